import type { NotifierSettings } from './notifier.ts';
import { isDeferred } from './words.ts';

export interface PlacedArn {
  readonly path: readonly (string | number)[];
  readonly arn: string;
  /** It shares this with the stack. SNS delivers to queues and functions of any region of its partition. */
  readonly within: 'Region' | 'Partition';
}

/** The settings with a place of their own. An ARN of the app itself, which only CloudFormation knows, is none. */
export function placedArns(
  settings: Pick<NotifierSettings, 'keyArn' | 'pagerTopicArn' | 'integrations' | 'subscriptions'>,
): PlacedArn[] {
  const placed = (path: PlacedArn['path'], arn: unknown, within: PlacedArn['within'] = 'Region') =>
    typeof arn === 'string' && arn.startsWith('arn:') && !isDeferred(arn)
      ? [{ path, arn, within }]
      : [];
  return [
    ...placed(['keyArn'], settings.keyArn),
    ...placed(['pagerTopicArn'], settings.pagerTopicArn),
    ...settings.integrations.flatMap(({ secretKeyArn }, index) =>
      placed(['integrations', index, 'secretKeyArn'], secretKeyArn),
    ),
    ...settings.subscriptions.flatMap((one, index) =>
      placed(['subscriptions', index, 'endpoint'], one.endpoint, 'Partition'),
    ),
  ];
}

export const placeIn = (arn: string, within: PlacedArn['within']) =>
  arn.split(':')[within === 'Region' ? 3 : 1] ?? '';
