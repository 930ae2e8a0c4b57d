"""Tests of number-lab: python3 -B -m unittest discover -s tests"""
