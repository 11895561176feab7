"""Knowledge: whatever a tenant has in the index, found by a question, and answered where a chat service is configured.

`attach(app)` brings the routes and the operation that answers. It has no tables: what is found is in `towpath.search`, and
an answer is the result of its job. It knows no product; each puts its things into the index as what they are.
"""

from towpath.knowledge.slice import attach

__all__ = ["attach"]
