-- fragment: claimable
-- What a job has to be for a claim to take it, on both databases. `ready` comes first: that is what the index in fair order is about.
ready AND state IN ({before_claim})
