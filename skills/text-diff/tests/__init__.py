"""Tests of text-diff: python3 -B -m unittest discover -s tests"""
