import { Aws, Fn } from 'aws-cdk-lib';
import {
  CfnMicrosoftTeamsChannelConfiguration,
  CfnSlackChannelConfiguration,
} from 'aws-cdk-lib/aws-chatbot';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { ChatConfig } from '../config.ts';
import type { Topics } from './topics.ts';

export interface ChatProps {
  readonly topics: Topics;
  /** In the order of the configuration. */
  readonly channels: readonly ChatConfig[];
}

/**
 * Channels of Slack and Teams, by Amazon Q Developer in chat applications, which subscribes to topics by itself. The
 * members of a channel can do nothing in AWS: the role has no permission, and the guardrail denies everything. The
 * default guardrail would be AdministratorAccess.
 */
export class Chat extends Construct {
  constructor(scope: Construct, id: string, { topics, channels }: ChatProps) {
    super(scope, id);
    const role = new iam.Role(this, 'Role', {
      // AWS documents no condition for this. A role cannot be passed from another account.
      assumedBy: new iam.ServicePrincipal('chatbot.amazonaws.com'),
      description: 'For chat channels, which may do nothing',
    });
    const denyAll = iam.ManagedPolicy.fromAwsManagedPolicyName('AWSDenyAll').managedPolicyArn;
    // A channel has one configuration, also if it gets several topics.
    for (const [place, told] of Map.groupBy(channels, placeOf)) {
      const [channel] = told;
      if (channel === undefined) continue;
      const settings = {
        configurationName: nameOf(channel),
        iamRoleArn: role.roleArn,
        guardrailPolicies: [denyAll],
        snsTopicArns: told.flatMap(({ topic }) => topics.chat[topic]?.topicArn ?? []),
        userRoleRequired: false,
      };
      if (channel.protocol === 'slack')
        new CfnSlackChannelConfiguration(this, place, {
          ...settings,
          slackWorkspaceId: channel.workspace,
          slackChannelId: channel.channel,
        });
      else
        new CfnMicrosoftTeamsChannelConfiguration(this, place, {
          ...settings,
          teamsTenantId: channel.tenant,
          teamId: channel.team,
          teamsChannelId: channel.channel,
        });
    }
  }
}

function placeOf(config: ChatConfig): string {
  return config.protocol === 'slack'
    ? `slack ${config.workspace} ${config.channel}`
    : `teams ${config.team} ${config.channel}`;
}

/**
 * The name of a configuration is unique in the account, over all Regions, so it ends with the id of the stack. It has
 * at most 128 letters, digits and hyphens. A channel has only one configuration in the account, too, so a second stack
 * needs another channel.
 */
function nameOf(config: ChatConfig): string {
  const stackId = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  const channel = config.channel.replace(/%[0-9a-f]{2}/gi, '-').replace(/[^\w-]/g, '-');
  return `certifications-${channel.slice(0, 64)}-${stackId}`;
}

/** The name of a channel in alarms and checks. */
export const chatInPublic = ({ protocol, channel }: ChatConfig) =>
  `the ${protocol === 'slack' ? 'Slack' : 'Teams'} channel ${channel}`;
