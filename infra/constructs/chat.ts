import { createHash } from 'node:crypto';
import { Aws, Fn, Stack } from 'aws-cdk-lib';
import {
  CfnMicrosoftTeamsChannelConfiguration,
  CfnSlackChannelConfiguration,
} from 'aws-cdk-lib/aws-chatbot';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { isChat, placeOf } from '../config/subscription.ts';
import type { ChatConfig, SubscriptionConfig } from '../config.ts';
import { describedValue, settingAt } from '../config-error.ts';
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
  /** The channels, each in the words of `placeOf`. */
  readonly places: ReadonlySet<string>;

  constructor(scope: Construct, id: string, { topics, channels }: ChatProps) {
    super(scope, id);
    this.places = new Set(channels.map(placeOf));
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

/**
 * The name of a configuration is unique in the account, over all Regions, so it ends with the id of the stack. It has
 * at most 128 letters, digits and hyphens.
 */
function nameOf(config: ChatConfig): string {
  const stackId = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `certifications-${wordsOf(config)}-${stackId}`;
}

/** 128, less fifteen characters before them, and a hyphen and 36 characters after them. */
const maxWords = 76;

/** Other words for each channel. A hash stands for the ID of a team, and for the rest of a long ID. */
function wordsOf(config: ChatConfig): string {
  const isSlack = config.protocol === 'slack';
  const words = isSlack
    ? `${config.workspace}-${config.channel}`
    : config.channel.replace(/%3a|%40|[^a-z\d]/gi, '-');
  if (isSlack && words.length <= maxWords) return words;
  const hash = createHash('sha256').update(placeOf(config)).digest('hex').slice(0, 8);
  return `${words.slice(0, maxWords - 1 - hash.length)}-${hash}`;
}

/**
 * The problems with channels of another notifier in the stack. A channel has one configuration in the account, so the
 * deployment would fail. It also fails for another stack of the account, which may be unknown here.
 */
export function channelsOfOthers(
  scope: Construct,
  configs: readonly SubscriptionConfig[],
): string[] {
  const others = Stack.of(scope).node.findAll();
  const taken = new Set(others.flatMap((one) => (one instanceof Chat ? [...one.places] : [])));
  return configs.flatMap((config, index) =>
    isChat(config) && taken.has(placeOf(config))
      ? `${settingAt(['subscriptions', index, 'channel'])}: ${describedValue(config.channel)} found; allowed: a channel that no other notifier of the stack has: an account has one configuration for each channel`
      : [],
  );
}

/** The name of a channel in alarms and checks. */
export const chatInPublic = ({ protocol, channel }: ChatConfig) =>
  `the ${protocol === 'slack' ? 'Slack' : 'Teams'} channel ${channel}`;
