"""Asks the example service for summaries of news articles, until it is stopped."""

import sys

from monitor.demo.news import news_documents
from monitor.demo.traffic import TrafficGenerator

with TrafficGenerator(sys.argv[1], news_documents(), per_second=0.5) as traffic:
    while True:
        traffic.send(1)
