"""Prints the mean FLIP error of images against a reference.

Usage: flip.py REFERENCE IMAGE...

FLIP is the perceived difference when one flips between two images (Andersson, Nilsson,
Akenine-Möller, Oskarsson, Åström, Fairchild, "FLIP: A Difference Evaluator for Alternating Images",
HPG 2020), here at its default of 67 pixels per degree. Images are PNG files of sRGB. Needs the
packages `numpy` and `flip-evaluator` (1.7 was used), which is the authors' own.
"""

import argparse

import flip_evaluator


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference")
    parser.add_argument("images", nargs="+")
    arguments = parser.parse_args()

    print("| image | FLIP |")
    print("|---|---|")
    for image in arguments.images:
        _, mean, _ = flip_evaluator.evaluate(arguments.reference, image, "LDR")
        print(f"| {image} | {mean:.4f} |")


if __name__ == "__main__":
    main()
