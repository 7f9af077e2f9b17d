# SPDX-License-Identifier: MIT
"""A script: one file, no module of its own."""


def parse(text):
    return [int(word) for word in text.split()]


def digits(limit):
    total = 0
    for number in range(limit):
        total += number * number % 7
    return total


def main():
    print(sum(digits(20000 + size) for size in parse("1 2 3 " * 70)))


if __name__ == "__main__":
    main()
