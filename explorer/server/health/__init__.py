"""Addresses that a load balancer or a monitor asks: does the process answer, and can it work?"""
