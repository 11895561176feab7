"""Which models people have chosen: the services they have set up, and what hears and chats where nobody says otherwise.

What was chosen is laid over the settings, and everything that takes settings goes on as it is: `settings_of` is the one
place that says what counts.
"""

from towpath.choices.checking import checked_hearing
from towpath.choices.overlay import default_hearing, settings_of
from towpath.choices.slice import attach, settings_in

__all__ = ["attach", "checked_hearing", "default_hearing", "settings_in", "settings_of"]
