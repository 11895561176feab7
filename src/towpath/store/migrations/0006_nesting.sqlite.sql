-- On PostgreSQL its SQL function learns to refuse what is nested too deeply. There is none here.
SELECT 1;
