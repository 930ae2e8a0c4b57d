"""Tests of csv-stats: python3 -B -m unittest discover -s tests"""
