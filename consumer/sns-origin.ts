/** A partition without an entry has `amazonaws.com`. */
const domains: Readonly<Record<string, string>> = {
  'aws-cn': 'amazonaws.com.cn',
  'aws-eusc': 'amazonaws.eu',
};

/**
 * The address at which SNS, and nobody else, answers for a topic:
 * `https://sns.<region>.amazonaws.com`, in China and in the European Sovereign Cloud under a domain
 * of their own. The region must not be matched by a pattern: `sns.s3-us-west-2.amazonaws.com`
 * belongs to the owner of the S3 bucket of that name.
 */
export function originOfSns(topicArn: string): string {
  const [, partition = '', , region] = topicArn.split(':');
  return `https://sns.${region}.${domains[partition] ?? 'amazonaws.com'}`;
}
