import type { Construct } from 'constructs';

/** The runbook of this project. Its anchors are those that GitHub gives to headings. */
export const runbookPage = 'docs/operations.md';

const context = 'certification-notifier:runbook';

/** Sets the URL of the runbook for the alarms in `scope`; to be called before anything is put into it. */
export function setRunbook(scope: Construct, url: string): void {
  scope.node.setContext(context, url);
}

/** The line of an alarm's description that links to its entry. */
export function inRunbook(scope: Construct, anchor: string): string {
  return `Runbook: ${scope.node.tryGetContext(context) ?? runbookPage}#${anchor}`;
}
