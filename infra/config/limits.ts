/** One deployment is one stack, and CloudFormation takes so many resources. */
export const maxResources = 500;

/** More integrations: a second deployment with another `stackName`. */
export const maxIntegrations = 22;

/** How many there are of what a stack is made of. */
interface Parts {
  readonly integrations: number;
  readonly fanOuts?: number;
  readonly newQueues?: number;
  readonly functions?: number;
  readonly eventBuses?: number;
  readonly archives?: number;
  /** Topics that chats are told, of two. */
  readonly chatTopics?: number;
  readonly chatChannels?: number;
  /** Whether the events topic is: an archive takes a queue and a pipe then. */
  readonly isFifo?: boolean;
  readonly otherSubscriptions?: number;
  readonly hasPager?: boolean;
  /** Whether a webhook subscribes to operations. */
  readonly hasOperationsHook?: boolean;
}

/**
 * What the stack becomes, with a key, a dashboard and secrets of its own: without one, it is one less. A
 * test compares it with what is synthesized.
 */
export function resourcesOf({
  integrations,
  fanOuts = 0,
  newQueues = 0,
  functions = 0,
  eventBuses = 0,
  archives = 0,
  chatTopics = 0,
  chatChannels = 0,
  isFifo = false,
  otherSubscriptions = 0,
  hasPager = false,
  hasOperationsHook = false,
}: Parts): number {
  return (
    (hasOperationsHook ? 19 : 18) +
    (hasPager ? 21 : 20) * integrations +
    9 * fanOuts +
    6 * newQueues +
    5 * functions +
    9 * eventBuses +
    (isFifo ? 14 : 10) * archives +
    (chatChannels > 0 ? 1 : 0) +
    3 * chatTopics +
    chatChannels +
    4 * otherSubscriptions
  );
}
