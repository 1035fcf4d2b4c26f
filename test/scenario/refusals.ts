import type { Reply } from '../../local/aws/gate.ts';

/** SNS refuses the one event of a batch. */
export const refusedForGood = async (): Promise<Reply> => ({
  status: 200,
  type: 'text/xml',
  body: `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>
    <Successful/><Failed><member><Id>0</Id><Code>InvalidParameter</Code><SenderFault>true</SenderFault>
    </member></Failed></PublishBatchResult></PublishBatchResponse>`,
});
