"""Speech, chat and embedding engines: one contract each, several engines behind it, nothing of it needs the network.

Products ask `speech.engine_for`, `chat.client_for`, `summaries.summarize` and `embeddings.embed`; which engine answers is a
matter of settings. Heavy libraries are imported where they are used, so importing this room costs nothing.
"""
