import type { ResultOf } from '../../lambda/commands/contract.ts';
import type { View } from './layout.ts';

export function testEventLines(view: View, { id }: ResultOf<'test-event'>): string[] {
  return [
    `${view.paint('good', 'accepted')}  ${id}`,
    'SNS has accepted the test event. Subscribers whose filter it passes find this id in it.',
  ];
}
