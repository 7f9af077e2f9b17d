# SPDX-License-Identifier: MIT
"""Copies to and from a device through ctypes, from marked lines."""
import ctypes

cuda = ctypes.CDLL("libcudart.so.12")
SIZE = 4096
host = ctypes.create_string_buffer(SIZE)
device = ctypes.c_void_p()
TO_DEVICE, TO_HOST = 1, 2


def copy(to, source, size, kind):
    assert cuda.cudaMemcpy(to, source, ctypes.c_size_t(size), kind) == 0  # copy


def upload(times):
    for _ in range(times):
        copy(device, host, SIZE, TO_DEVICE)  # upload


def download():
    copy(host, device, SIZE // 2, TO_HOST)  # download


assert cuda.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(SIZE)) == 0
upload(100)
download()
