-- Moments as seconds since 1970.

-- fragment: seconds_of_minute
date_part('epoch', minute)

-- fragment: seconds_of_quarter
date_part('epoch', quarter)
