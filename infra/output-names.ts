/** The stack's outputs by which the command line for ops finds what it works with. */
export const stackOutputs = {
  /** The integrations' names, with commas between them. */
  integrations: 'Integrations',
  eventsTopic: 'EventsTopicArn',
  alertsTopic: 'AlertsTopicArn',
  operationsTopic: 'OperationsTopicArn',
  operateFunction: (integration: string) => `OperateFunction${pascalCase(integration)}`,
  schedule: (integration: string) => `Schedule${pascalCase(integration)}`,
  /** Starts the self-checks, and knows which subscriptions there should be. */
  selfCheck: (integration: string) => `SelfCheck${pascalCase(integration)}`,
  secret: (integration: string) => `Secret${pascalCase(integration)}`,
  /** Of a queue made for a subscriber. */
  queueUrl: (queue: string) => `QueueUrl${pascalCase(queue)}`,
} as const;

/** CloudFormation takes letters and digits only: `district-a` is `DistrictA`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
