import { asked, opsCommand } from '../ops-command.ts';

export const testEvent = opsCommand({
  of: 'test-event',
  isFinal: true,
  details:
    'A subscriber gets the event only if it passes the filter: give an organization or an assessment of the filter. A filter by type has to list certification.test. Each run sends another event.',
  examples: [
    ['test-event --local', 'does a subscription work?'],
    ['test-event --stack prod --organization 7', 'one that passes the filter for organization 7'],
    ['test-event --local --like withdrawn', 'can a consumer handle an event without a record?'],
  ],
  run: asked('test-event', (view, { id }) => [
    `${view.paint('good', 'accepted')}  ${id}`,
    'SNS has accepted the test event. Subscribers whose filter it passes find this id in it.',
  ]),
});
