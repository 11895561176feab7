"""OpenAI's API for what the products here do: files, batches, transcriptions, models.

A program that was written for OpenAI is pointed here by its base URL, with an API token as its key. Nothing is stored for it
but what the products store anyway: a file is an asset, a batch is a batch.
"""

from towpath.openai_api.slice import attach

__all__ = ["attach"]
