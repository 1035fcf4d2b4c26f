import type { ReceivedEvent } from 'certification-notifier/consumer';

/**
 * Your part. When it resolves, the event is done; when it throws, the event comes again. It may run twice for one
 * event, if a worker dies in the middle. So give `event.id` to the services that it calls.
 */
export async function handle(event: ReceivedEvent): Promise<void> {
  switch (event.type) {
    case 'certification.created':
    case 'certification.updated':
    case 'certification.restored': {
      const { assessment_name, certified_on } = event.data.assessment;
      // No name: a log is read by more people, and kept longer, than the record is.
      console.log(`${event.type}  ${assessment_name}, ${certified_on}  ${event.id}`);
      return;
    }
    case 'certification.withdrawn':
      console.log(`${event.type}  assessment ${event.data.assessment.id}  ${event.id}`);
      return;
    case 'certification.test':
      console.log(`${event.type}  it works  ${event.id}`);
      return;
    default:
      // Of a later version than this program. Done with, so that it does not come for ever.
      console.log(`${event.announced} is not known here  ${event.id}`);
  }
}
