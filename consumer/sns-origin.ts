/** Where a partition has no entry, `amazonaws.com`. */
const domains: Readonly<Record<string, string>> = {
  'aws-cn': 'amazonaws.com.cn',
  'aws-eusc': 'amazonaws.eu',
};

/**
 * Where SNS answers for a topic, and nobody else does: `https://sns.<region>.amazonaws.com`, in China
 * and in the European Sovereign Cloud under a domain of their own. Never by a pattern for the region:
 * `sns.s3-us-west-2.amazonaws.com` belongs to the owner of the S3 bucket of that name.
 */
export function originOfSns(topicArn: string): string {
  const [, partition = '', , region] = topicArn.split(':');
  return `https://sns.${region}.${domains[partition] ?? 'amazonaws.com'}`;
}
