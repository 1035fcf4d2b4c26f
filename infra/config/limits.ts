/** CloudFormation's limit for the resources of a stack. A deployment is one stack. */
export const maxResources = 500;

/** More integrations need a second deployment with another `stackName`. */
export const maxIntegrations = 22;

/** The numbers of the parts of a stack. */
interface Parts {
  readonly integrations: number;
  readonly newQueues?: number;
  readonly functions?: number;
  readonly eventBuses?: number;
  readonly archives?: number;
  /** Topics for chats; there are two at most. */
  readonly chatTopics?: number;
  readonly chatChannels?: number;
  /** Whether the events topic is FIFO. An archive then takes a queue and a pipe. */
  readonly isFifo?: boolean;
  readonly otherSubscriptions?: number;
  readonly hasPager?: boolean;
  /** Whether a webhook subscribes to operations. */
  readonly hasOperationsHook?: boolean;
}

/**
 * The number of resources of a stack with its own key, dashboard and secrets; without one of these, there is one less.
 * A test compares the number with the synthesized stack.
 */
export function resourcesOf({
  integrations,
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
