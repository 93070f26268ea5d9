/** `secrets` of a location or a part: list, create and delete. */
import type { Cloud, SharedSecret } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import type { Named } from '../invocation/find.ts';
import { shellWord } from '../invocation/shell-word.ts';
import { presenter, timeOf } from '../results/presenters.ts';

type App = Cloud['app'];

export interface SecretsOf {
  readonly what: 'location' | 'part';
  readonly argument: readonly [name: string, description: string];
  /** The commands up to `list`, and an argument for them. */
  readonly example: readonly [commands: string, argument: string];
  /** The effect of deleting a secret; a sentence, or empty. */
  readonly warning: string;
  read(app: App, id: string): Promise<readonly SharedSecret[] | undefined>;
  create(app: App, id: string): Promise<unknown>;
  remove(app: App, id: string, secretId: string): Promise<unknown>;
}

const { fields, shape } = presenter<SharedSecret>({
  id: (one) => one.id,
  secret: (one) => one.secret,
  created_at: (one) => timeOf(one.createdOn),
});

/** Enough to recognise a secret, too little to use it. */
function masked(secret: string): string {
  return `${secret.slice(0, 4)}…`;
}

export function secretsCommand(of: SecretsOf): Command {
  const { what, argument, warning } = of;
  const [commands, example] = of.example;
  const find = (context: Context, text: string): Promise<Named> => context.find[what](text);
  const list = defineCommand(
    new Command('list')
      .description(`list the secrets of a ${what}; for owners`)
      .argument(...argument)
      .option('--reveal', 'show the secrets instead of their first characters'),
    { examples: [`${commands} list ${example}`, `${commands} list ${example} --reveal`], fields },
    async (context, flags, text = '') => {
      const { id } = await find(context, text);
      const secrets = await of.read((await context.cloud()).app, id);
      const isMasked = flags['reveal'] !== true;
      const rows = (secrets ?? []).map(shape);
      context.out.rows(
        isMasked ? rows.map((row) => ({ ...row, secret: masked(String(row['secret'])) })) : rows,
        fields,
      );
      if (isMasked && rows.length > 0) context.out.note('add --reveal to show the secrets');
    },
  );
  const create = defineCommand(
    new Command('create').description(`add a secret to a ${what}; existing secrets keep working`).argument(...argument),
    { examples: [`${commands} create ${example}`] },
    async (context, _flags, text = '') => {
      const { id, name } = await find(context, text);
      await of.create((await context.cloud()).app, id);
      context.out.note(
        `${what} "${name}" has a new secret; show it with: ${commands} list ${shellWord(text)} --reveal`,
      );
    },
  );
  const remove = defineCommand(
    new Command('delete')
      .description(`delete a secret of a ${what}`)
      .argument(...argument)
      .argument('<secret-id>'),
    { examples: [`${commands} delete ${example} 3f0c…`] },
    async (context, _flags, text = '', secretId = '') => {
      const { id, name } = await find(context, text);
      await context.confirm(`Delete the secret ${secretId} of the ${what} "${name}"?${warning}`);
      await of.remove((await context.cloud()).app, id, secretId);
      context.out.note('the secret is deleted');
    },
  );
  return group('secrets', `secrets of a ${what}`, [list, create, remove]);
}
