"""`python -m stategram` is the command `stategram`."""

from stategram.cli import main

if __name__ == "__main__":
    main()
