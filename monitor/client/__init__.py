"""Sends summaries from inside a service to the sidecar, without ever standing in its way.

    from monitor.client import Client

    monitoring = Client(service="newsroom", model="gpt-4o-mini")
    monitoring.send(document, summary)        # returns at once, whatever the sidecar does
    monitoring.close()                        # when the service ends

`AsyncClient` is the same with `await monitoring.close()`. `send` never raises and never waits: it
appends to a bounded buffer, which a thread empties. Where the sidecar is away, the oldest records
are dropped and counted. Nothing but the standard library is needed, and nothing else of this
package: the folder may be copied into a service.
"""

from .delivery import AsyncClient, Client, Counts

__all__ = ["AsyncClient", "Client", "Counts"]
