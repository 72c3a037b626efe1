"""python -m gradsift"""

from gradsift.cli import main

if __name__ == "__main__":
    main()
