"""Your part."""

from events import Event


def handle(event: Event) -> None:
    """
    When it returns, the event is done with; when it raises, the event comes again. It may run twice for one event if
    a worker dies in the middle, so give `event.id` to the services it calls.
    """
    if event.data is None:
        # Of a later version than this program. Done with, or it would come for ever.
        print(f"{event.type} is not known here  {event.id}", flush=True)
        return
    assessment = event.data["assessment"]
    match event.type:
        case "certification.created" | "certification.updated" | "certification.restored":
            # No name: more people read a log than a record, and it is kept longer.
            told = f"{assessment['assessment_name']}, {assessment['certified_on']}"
        case "certification.withdrawn":
            told = f"assessment {assessment['id']}"
        case _:
            told = "it works"
    print(f"{event.type}  {told}  {event.id}", flush=True)
