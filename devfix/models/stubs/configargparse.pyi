"""Options of the command line and of files."""

from argparse import ArgumentParser as ArgumentParser
