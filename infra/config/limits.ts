/** One deployment is one stack, and CloudFormation takes so many resources. */
export const maxResources = 500;

/** More integrations: a second deployment with another `stackName`. */
export const maxIntegrations = 25;

/** What the stack becomes at most; a test compares it with what is synthesized. */
export function resourcesOf(integrations: number, subscriptions: number, fanOuts = 0): number {
  return 14 + 19 * integrations + 6 * subscriptions + 8 * fanOuts;
}
