# SPDX-License-Identifier: MIT
# Put this folder as packages/battprof into a Spack repository; git is where the source is published.
from spack.package import *


class Battprof(MesonPackage):
    """An LD_PRELOAD profiler that divides the wall clock of an unmodified program among DSL, framework
    and CPU-GPU transfer. It needs neither root nor ptrace nor perf."""

    homepage = "https://battprof.invalid"
    git = "https://battprof.invalid/battprof.git"

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("python", default=True, description="Install the Python package battprof")
    variant("sim", default=True, description="Install the simulated CUDA device")
    variant("sqlite", default=True, description="Import traces of Nsight Systems")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils@0.170:")
    depends_on("jansson@2.13:")
    depends_on("sqlite@3.22:", when="+sqlite")
    depends_on("zlib-api")
    depends_on("python@3.8:", when="+python", type=("build", "run"))

    extends("python", when="+python")

    requires("target=x86_64:", msg="profiles x86-64 programs")
    requires("platform=linux", msg="uses LD_PRELOAD of glibc")

    def meson_args(self):
        args = ["-Dtests=disabled"]
        for feature in ("sim", "sqlite"):
            enabled = self.spec.satisfies("+" + feature)
            args.append("-D%s=%s" % (feature, "enabled" if enabled else "disabled"))
        if self.spec.satisfies("+python"):
            args.append("-Dpython=" + self.spec["python"].command.path)
        return args

    # SQLite is opened when a trace is imported, not linked.
    def setup_run_environment(self, env):
        if self.spec.satisfies("+sqlite"):
            env.append_path("LD_LIBRARY_PATH", self.spec["sqlite"].prefix.lib)

    def test_doctor(self):
        """the command runs and finds its library"""
        battprof = which(self.prefix.bin.battprof)
        out = battprof("doctor", output=str.split, error=str.split)
        assert "Profiling works" in out
