"""What routes stand on: who calls and what they may do, problem documents, headers, the audit log.

Importing the package pulls in no web framework, so that commands can look after accounts where none is installed.
"""
