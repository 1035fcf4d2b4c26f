/** The stack's outputs that the command line of ops reads. */
export const stackOutputs = {
  /** The integrations' names, with commas between them. */
  integrations: 'Integrations',
  eventsTopic: 'EventsTopicArn',
  alertsTopic: 'AlertsTopicArn',
  operationsTopic: 'OperationsTopicArn',
  operateFunction: (integration: string) => `OperateFunction${pascalCase(integration)}`,
  schedule: (integration: string) => `Schedule${pascalCase(integration)}`,
  /** Starts the self-checks; its input has the expected subscriptions. */
  selfCheck: (integration: string) => `SelfCheck${pascalCase(integration)}`,
  secret: (integration: string) => `Secret${pascalCase(integration)}`,
  /** The URL of a queue made for a subscriber. */
  queueUrl: (queue: string) => `QueueUrl${pascalCase(queue)}`,
} as const;

/** CloudFormation takes letters and digits only: `district-a` is `DistrictA`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
