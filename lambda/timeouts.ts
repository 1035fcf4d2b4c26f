/**
 * Time-outs of AWS clients, in milliseconds. An answer that does not come must not cost the
 * invocation, and a socket can die while its environment is frozen. Without `throwOnRequestTimeout`
 * the SDK's HTTP handler only logs that time is up, and waits on.
 */
export const awsTimeouts = {
  requestHandler: {
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    throwOnRequestTimeout: true,
  },
} as const;

/**
 * A mail that is sent again is read twice, so its answer is waited for longer, and it is sent once
 * more at most.
 */
export const snsTimeouts = {
  requestHandler: { ...awsTimeouts.requestHandler, requestTimeout: 9_000 },
  maxAttempts: 2,
} as const;
