import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

/** The only stack. */
export interface DescribedStack {
  readonly name: string;
  readonly arn: string;
  /** Name → value. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** A stand-in for AWS CloudFormation (query protocol): DescribeStacks. Signatures are not checked. */
export function cloudFormation(stack: DescribedStack): Server {
  return createServer(async (request, response) => {
    const { status, body } = await answer(request, stack);
    response.writeHead(status, { 'content-type': 'text/xml' }).end(body);
  });
}

async function answer(request: IncomingMessage, stack: DescribedStack) {
  const parameters = new URLSearchParams(await text(request));
  if (request.method !== 'POST' || parameters.get('Action') !== 'DescribeStacks')
    return refused('InvalidAction', 'The embedded CloudFormation cannot do this.');
  const asked = parameters.get('StackName') ?? stack.name;
  if (asked !== stack.name && asked !== stack.arn)
    // CloudFormation has no own error code for this.
    return refused('ValidationError', `Stack with id ${asked} does not exist`);
  const outputs = Object.entries(stack.outputs).map(
    ([name, value]) =>
      `<member><OutputKey>${name}</OutputKey><OutputValue>${xml(value)}</OutputValue></member>`,
  );
  return {
    status: 200,
    body: `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
<DescribeStacksResult><Stacks><member>
<StackName>${xml(stack.name)}</StackName><StackId>${xml(stack.arn)}</StackId>
<StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>${new Date().toISOString()}</CreationTime>
<Outputs>${outputs.join('')}</Outputs>
</member></Stacks></DescribeStacksResult>
</DescribeStacksResponse>`,
  };
}

function refused(code: string, message: string) {
  return {
    status: 400,
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${xml(message)}</Message></Error></ErrorResponse>`,
  };
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
