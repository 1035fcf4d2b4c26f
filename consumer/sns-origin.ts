/**
 * Where SNS answers for a topic, and nobody else does: `https://sns.<region>.amazonaws.com`, in China
 * `.com.cn`. Never by a pattern for the region: `sns.s3-us-west-2.amazonaws.com` is whoever has the
 * S3 bucket of that name.
 */
export function originOfSns(topicArn: string): string {
  const [, partition, , region] = topicArn.split(':');
  return `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
}
