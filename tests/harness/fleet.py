# SPDX-License-Identifier: MIT
"""Many ranks out of a few that really ran: their files again, with ranks and hosts of their own.

    fleet.py SEEDS OUT COUNT SLOW

SEEDS has directories of profiles of run_batt, each made with RANK=0000000; the last one of them
becomes rank SLOW, the others all the rest, eight to a host."""
import os
import socket
import sys

RANK = b"0000000"  # what RANK is in the seeds: numbers of seven digits take its place
HOST = socket.gethostname().encode().ljust(64, b"\0")  # struct bp_header


def of_rank(data, rank):
    host = ("node%04d" % (rank // 8)).encode().ljust(64, b"\0")
    assert data.count(HOST) == 1
    return data.replace(RANK, b"%07d" % rank).replace(HOST, host)


def write_fleet(seeds, out, count, slow):
    found = [os.path.join(seeds, name) for name in sorted(os.listdir(seeds))]
    files = [{name: open(os.path.join(seed, name), "rb").read() for name in os.listdir(seed)}
             for seed in found]
    for rank in range(count):
        place = os.path.join(out, "rank%04d" % rank)
        os.makedirs(place)
        for name, data in files[-1 if rank == slow else rank % (len(files) - 1)].items():
            with open(os.path.join(place, name), "wb") as file:
                file.write(of_rank(data, rank))


if __name__ == "__main__":
    write_fleet(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
