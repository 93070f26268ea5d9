/** `platform profiles`: saved logins, and which one applies in which directory. */
import { notFound } from '@platform/base/refusals';
import { Command } from 'commander';
import { currentProfile } from '../invocation/context.ts';
import { defineCommand, defineLocalCommand, group } from '../invocation/define-command.ts';
import { bindProfile, readProfiles, unbindProfile, writeProfiles } from '../invocation/profiles.ts';
import type { Settings } from '../settings.ts';

const fields = ['name', 'url', 'as', 'organization', 'organization_id', 'current', 'default'];

export function profilesCommand(): Command {
  return group('profiles', 'saved logins; create one with "platform login --profile NAME"', [
    list(),
    use(),
    bind(),
    unbind(),
    organization(),
    remove(),
  ]);
}

function list(): Command {
  return defineLocalCommand(
    new Command('list').description('list the profiles'),
    { examples: ['platform profiles list'], fields },
    async ({ out, settings }) => {
      const known = await readProfiles(settings.configDir);
      // The profile that is bound here may no longer exist; the list shows those that do.
      const current = await currentProfile(undefined, settings).then(
        ({ name }) => name,
        () => undefined,
      );
      const rows = Object.entries(known.profiles).map(([name, profile]) => ({
        name,
        url: profile.url,
        as: profile.as,
        organization: profile.organizationName ?? profile.organization ?? null,
        organization_id: isId(profile.organization) ? profile.organization : null,
        current: name === current,
        default: name === known.default,
      }));
      out.rows(rows, ['name', 'url', 'as', 'organization', 'current', 'default']);
    },
  );
}

/** A login with --organization keeps the text that was typed. */
function isId(text: string | undefined): text is string {
  return /^[0-9a-f-]{36}$/i.test(text ?? '');
}

async function existing(name: string, { configDir }: Settings): Promise<Awaited<ReturnType<typeof readProfiles>>> {
  const known = await readProfiles(configDir);
  if (known.profiles[name] === undefined) {
    const others = Object.keys(known.profiles).join(', ') || 'none';
    throw notFound(`profile: expected an existing one (${others}), found "${name}"`);
  }
  return known;
}

function use(): Command {
  return defineLocalCommand(
    new Command('use').description('make a profile the default').argument('<name>'),
    { examples: ['platform profiles use client'] },
    async ({ out, settings }, _flags, name = '') => {
      await writeProfiles(settings.configDir, { ...(await existing(name, settings)), default: name });
      out.note(`profile "${name}" is now the default`);
    },
  );
}

function bind(): Command {
  return defineLocalCommand(
    new Command('bind').description('use a profile in this directory and below it').argument('<name>'),
    { examples: ['cd ~/client && platform profiles bind client'] },
    async ({ out, settings }, _flags, name = '') => {
      await existing(name, settings);
      out.note(`profile "${name}" is used in this directory: ${await bindProfile(process.cwd(), name)}`);
    },
  );
}

function unbind(): Command {
  return defineLocalCommand(
    new Command('unbind').description('undo "profiles bind" in this directory'),
    { examples: ['platform profiles unbind'] },
    async ({ out }) => {
      await unbindProfile(process.cwd());
      out.note('this directory is no longer bound to a profile');
    },
  );
}

function organization(): Command {
  return defineCommand(
    new Command('organization')
      .description('set the default organization of a profile')
      .argument('<organization>', 'name or id'),
    { examples: ['platform profiles organization "North plant"'] },
    async ({ flags, find, out, settings }, _flags, text) => {
      const { id, name } = await find.organization(text);
      const { name: current, profile } = await currentProfile(flags.profile, settings);
      if (profile === undefined) throw notFound('you have no profile; run platform login');
      const known = await readProfiles(settings.configDir);
      await writeProfiles(settings.configDir, {
        ...known,
        profiles: { ...known.profiles, [current]: { ...profile, organization: id, organizationName: name } },
      });
      out.note(`profile "${current}" now uses the organization "${name}" by default`);
    },
  );
}

function remove(): Command {
  return defineLocalCommand(
    new Command('delete').alias('remove').description('delete a profile without ending its session').argument('<name>'),
    { examples: ['platform profiles delete client'] },
    async ({ out, settings }, _flags, name = '') => {
      const known = await existing(name, settings);
      const { [name]: _gone, ...others } = known.profiles;
      await writeProfiles(settings.configDir, { ...known, profiles: others });
      out.note(`profile "${name}" is deleted`);
    },
  );
}
