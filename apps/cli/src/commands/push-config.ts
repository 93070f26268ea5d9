/** `platform organizations push-config`: an organization's credentials for push notifications of its own mobile app. */
import { Command } from 'commander';
import { defineCommand, group } from '../invocation/define-command.ts';
import { readInput } from '../invocation/input.ts';

const fields = ['application'];

export function pushConfigCommand(): Command {
  return group('push-config', 'credentials for push notifications to your own mobile app; for owners', [
    set(),
    get(),
    remove(),
  ]).alias('firebase-config');
}

function set(): Command {
  return defineCommand(
    new Command('set')
      .description('upload the credentials of the push provider; they replace earlier ones and are never shown')
      .argument('<app>', 'id of the mobile app, such as com.example.press')
      .argument('<file>', 'JSON of a service account, as the push provider gives it; - for standard input'),
    { examples: ['platform organizations push-config set com.example.press service-account.json'], fields },
    async ({ cloud, out, find, invocation }, _flags, application = '', file = '') => {
      const { id: orgId, name } = await find.organization(undefined);
      const { app } = await cloud();
      await app.setFirebaseConfig({ orgId, appId: application, configJson: await readInput(file, invocation) });
      out.object({ application });
      out.note(`triggers of "${name}" can now notify by push with "application": "${application}"`);
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get').alias('show').description('show which mobile app the credentials belong to'),
    { examples: ['platform organizations push-config get'], fields },
    async ({ cloud, out, find }) => {
      const { id: orgId } = await find.organization(undefined);
      const { appId } = await (await cloud()).app.getFirebaseConfig({ orgId });
      out.object({ application: appId });
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete')
      .alias('unset')
      .description('delete the credentials; notifications to the app fail from then on')
      .argument('<app>', 'id of the mobile app'),
    { examples: ['platform organizations push-config delete com.example.press'] },
    async ({ cloud, out, find, confirm }, _flags, application = '') => {
      const { id: orgId, name } = await find.organization(undefined);
      await confirm(`Delete the credentials of "${name}" for push notifications of ${application}?`);
      await (await cloud()).app.deleteFirebaseConfig({ orgId, appId: application });
      out.note('the credentials are deleted');
    },
  );
}
