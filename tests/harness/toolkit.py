# SPDX-License-Identifier: MIT
"""NVIDIA's headers and libraries: those that are installed, and those of debian.py."""
import glob
import os

from harness import debian
from harness import Skip


def include_folders():
    """All that have CUPTI's headers."""
    found = [os.path.dirname(p) for d in ("/usr/local/cuda*", "/usr/lib/cuda*", "/opt/cuda*", "/usr")
             for p in glob.glob(os.path.join(d, "include", "cupti_activity.h"))]
    home = os.environ.get("CUDA_HOME")
    if home:
        found += [os.path.dirname(p) for p in glob.glob(home + "/**/cupti_activity.h",
                                                        recursive=True)]
    return sorted({os.path.realpath(p) for p in found})


def library(name):
    for place in ("/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64",
                  "/usr/lib/x86_64-linux-gnu"):
        path = os.path.join(place, name)
        if os.path.exists(path):
            return path
    raise Skip("%s is not installed" % name)


class Cuda:
    """One version: where its headers are, its libcupti and its libcudart."""

    def __init__(self, version):
        self.generation = version.split(".")[0]
        if version == "13":
            self.includes = include_folders()
            if not self.includes:
                raise Skip("no CUPTI headers are installed")
            self.libraries = lambda name: library("lib%s.so.13" % name)
            return
        folder, libraries = debian.cupti(version)
        self.includes = [folder]
        suffix = {"cupti": {"11.8": "11.8", "12.4": "12"}, "cudart": {"11.8": "11.0", "12.4": "12"}}
        self.libraries = lambda name: os.path.join(
            libraries, "lib%s.so.%s" % (name, suffix[name][version]))


def cuda_header():
    """The folder of a cuda.h: CUPTI's packages have none, and any version's will do for them."""
    for place in ("/usr/local/cuda/include", "/usr/include"):
        if os.path.exists(os.path.join(place, "cuda.h")):
            return place
    raise Skip("no cuda.h is installed")
