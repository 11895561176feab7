-- When what stands in a passage was said: [where in the text, second] of each line that it is made of; null in written texts.
ALTER TABLE towpath.search_passage ADD COLUMN moments text;
