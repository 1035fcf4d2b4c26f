import type { Construct } from 'constructs';

/** Where this project has the runbook; anchors are those that GitHub gives to headings. */
export const runbookPage = 'docs/operations.md';

const context = 'certification-notifier:runbook';

/** To be told before anything is put into `scope`: where the alarms in it find the runbook. */
export function setRunbook(scope: Construct, url: string): void {
  scope.node.setContext(context, url);
}

/** The line of an alarm's description that leads to its entry. */
export function inRunbook(scope: Construct, anchor: string): string {
  return `Runbook: ${scope.node.tryGetContext(context) ?? runbookPage}#${anchor}`;
}
