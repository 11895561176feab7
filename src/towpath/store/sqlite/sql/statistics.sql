-- Moments as seconds since 1970, which is how they are stored.

-- fragment: seconds_of_minute
minute

-- fragment: seconds_of_quarter
quarter
