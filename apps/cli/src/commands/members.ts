/** `platform members`: the members of an organization, their roles and invitations. */
import { notFound } from '@platform/base/refusals';
import type { Authorization, Cloud, JsonObject } from '@platform/sdk/cloud';
import { PlatformError, refusalOf } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { authorizationFor } from '../invocation/authorization.ts';
import { withRole } from '../invocation/choice.ts';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import { namesOf } from '../results/names.ts';
import { actorName, timeOf } from '../results/presenters.ts';
import { kindsOfRoles, roleOf, rolesField, sentence } from '../results/roles.ts';

/** docs/specs/states.md says what makes each true. */
export const memberStates = ['member', 'invited'] as const;

const fields = ['email', 'id', 'state', 'roles', 'since', 'last_access'];

export function membersCommand(): Command {
  return group('members', 'members of an organization', [
    list(),
    invite(),
    uninvite(),
    resend(),
    role('grant', 'give a member a role'),
    role('revoke', 'revoke a role of a member'),
    remove(),
  ]);
}

/** Finds a member by e-mail address or id. */
async function memberOf(context: Context, text: string): Promise<{ id: string; email: string }> {
  const { id: organizationId } = await context.find.organization();
  const { members } = await (await context.cloud()).app.listOrganizationMembers({ organizationId });
  const found = members.find((one) => one.userId === text || one.emails.includes(text.toLowerCase()));
  if (found === undefined) {
    const known = members
      .flatMap((one) => one.emails)
      .slice(0, 10)
      .join(', ');
    throw notFound(`member: expected the e-mail address or id of a member (${known}), found "${text}"`);
  }
  return { id: found.userId, email: found.emails[0] ?? found.userId };
}

/** Only owners may see the roles in an organization; for others, none. A person without an owner role may still leave. */
async function rolesIn(app: Cloud['app'], organizationId: string): Promise<readonly Authorization[]> {
  try {
    return (await app.listAuthorizations({ organizationId })).authorizations;
  } catch (caught) {
    if (caught instanceof PlatformError && caught.code === 'permission_denied') return [];
    throw caught;
  }
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list members and pending invitations'),
    { examples: ['platform members list', 'platform members list --json=email,roles'], fields },
    async (context) => {
      const { cloud, find, out } = context;
      const { id: organizationId } = await find.organization();
      const { app } = await cloud();
      const { members, invites } = await app.listOrganizationMembers({ organizationId });
      const [authorizations, names] = await Promise.all([rolesIn(app, organizationId), namesOf(context, kindsOfRoles)]);
      const rolesOf = (roles: readonly Authorization[]) =>
        rolesField(
          out,
          roles.map((one) => roleOf(one, names)),
        );
      const rows: JsonObject[] = members.map((one) => ({
        email: one.emails[0] ?? (out.style.json === false ? `(${actorName('person', '', one.userId)})` : null),
        id: one.userId,
        state: memberStates[0],
        roles: rolesOf(authorizations.filter((role) => role.identityId === one.userId)),
        since: timeOf(one.dateAdded),
        last_access: timeOf(one.lastAccess),
      }));
      const invited: JsonObject[] = invites.map((one) => ({
        email: one.email,
        id: null,
        state: memberStates[1],
        roles: rolesOf(one.authorizations),
        since: timeOf(one.createdOn),
        last_access: null,
      }));
      out.rows([...rows, ...invited], ['email', 'state', 'roles', 'since', 'last_access']);
    },
  );
}

async function showLink({ cloud, out }: Context, organizationId: string, email: string): Promise<void> {
  const answer = await (await cloud()).postJson('/api/invitations/link', { organizationId, email });
  const { link } = Object(answer.body) as { readonly link?: string };
  if (answer.status !== 200 || link === undefined) throw refusalOf(answer, 'POST /api/invitations/link');
  out.object({ email, link });
}

/** Reads from the headers of an answer whether the cloud mailed an invitation. */
function mailing() {
  let mailed = '';
  const onHeader = (headers: Headers): void => {
    mailed = headers.get('platform-mailed') ?? '';
  };
  return { options: { onHeader }, isMailed: () => mailed === 'true' };
}

async function showUnlessMailed(
  context: Context,
  organizationId: string,
  email: string,
  mailed: boolean,
): Promise<void> {
  if (mailed) return context.out.note(`the invitation to ${email} is on its way`);
  context.out.note('the invitation was not mailed: send this link yourself');
  await showLink(context, organizationId, email);
}

function invite(): Command {
  return defineCommand(
    withRole(
      new Command('invite')
        .description(
          'invite a person; prints the link if the cloud has no mail server, or with --link instead of mailing it',
        )
        .argument('<email>')
        .option('--link', 'print the link instead of mailing it'),
    ),
    {
      examples: [
        'platform members invite ada@example.com --role owner',
        'platform members invite ada@example.com --location Plant --link',
      ],
      fields: ['email', 'link'],
    },
    async (context, flags, email = '') => {
      const authorization = await authorizationFor(context, flags);
      const { organizationId } = authorization;
      const sendEmailInvite = flags['link'] !== true;
      const request = { organizationId, email, authorizations: [authorization], sendEmailInvite };
      const sent = mailing();
      await (await context.cloud()).app.createOrganizationInvite(request, sent.options);
      context.out.note(`${email} is invited`);
      await showUnlessMailed(context, organizationId, email, sendEmailInvite && sent.isMailed());
    },
  );
}

function resend(): Command {
  return defineCommand(
    new Command('resend')
      .description('create a new link for a pending invitation; the old link stops working')
      .argument('<email>')
      .option('--link', 'print the link instead of mailing it'),
    { examples: ['platform members resend ada@example.com --link'], fields: ['email', 'link'] },
    async (context, flags, email = '') => {
      const { id: organizationId } = await context.find.organization();
      if (flags['link'] === true) return showLink(context, organizationId, email);
      const sent = mailing();
      const request = { organizationId, email, sendEmailInvite: true };
      await (await context.cloud()).app.resendOrganizationInvite(request, sent.options);
      await showUnlessMailed(context, organizationId, email, sent.isMailed());
    },
  );
}

function uninvite(): Command {
  return defineCommand(
    new Command('uninvite').description('withdraw an invitation').argument('<email>'),
    { examples: ['platform members uninvite ada@example.com'] },
    async ({ cloud, find, out }, _flags, email = '') => {
      const { id: organizationId } = await find.organization();
      await (await cloud()).app.deleteOrganizationInvite({ organizationId, email });
      out.note(`the invitation to ${email} is withdrawn`);
    },
  );
}

function role(verb: 'grant' | 'revoke', summary: string): Command {
  return defineCommand(
    withRole(new Command(verb).description(summary).argument('<member>', 'e-mail address or id')),
    { examples: [`platform members ${verb} ada@example.com --role operator --machine press-7`] },
    async (context, flags, text = '') => {
      const member = await memberOf(context, text);
      const authorization = await authorizationFor(context, flags, { id: member.id, type: 'user' });
      const { app } = await context.cloud();
      const request = { authorization };
      await (verb === 'grant' ? app.addRole(request) : app.removeRole(request));
      const role = sentence(roleOf(authorization, await namesOf(context, kindsOfRoles)), false);
      context.out.note(`${member.email} is ${verb === 'grant' ? 'now' : 'no longer'} ${role}`);
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('remove')
      .description('remove a person from the organization')
      .argument('<member>', 'e-mail address or id'),
    { examples: ['platform members remove ada@example.com'] },
    async (context, _flags, text = '') => {
      const member = await memberOf(context, text);
      const { id: organizationId, name } = await context.find.organization();
      await warnOfLastOwner(context, organizationId, member);
      await context.confirm(`Remove ${member.email} from "${name}"?`);
      await (await context.cloud()).app.deleteOrganizationMember({ organizationId, userId: member.id });
      context.out.note(`${member.email} is no longer a member`);
    },
  );
}

/** An API key may be the last owner of an organization, but no one can sign in with a key. */
async function warnOfLastOwner(
  { cloud, out }: Context,
  organizationId: string,
  member: { readonly id: string; readonly email: string },
): Promise<void> {
  const authorizations = await rolesIn((await cloud()).app, organizationId);
  const owners = authorizations.filter(
    (one) => one.authorizationId === 'organization_owner' && one.identityType === 'user',
  );
  if (owners.length > 0 && owners.every((one) => one.identityId === member.id))
    out.warn(
      `${member.email} is the last person who owns the organization. Afterwards, only API keys own it, and no one can sign in as an owner until one of these keys is used to invite one`,
    );
}
