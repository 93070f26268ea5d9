import { type RunningUi, startUi } from '../start-ui.ts';

export interface WatchedUi extends RunningUi {
  /** Messages of errors that no code of a page caught. */
  readonly uncaught: readonly string[];
}

/** A web UI whose page has shown a machine that is online. Without UDP, so that every call goes through the cloud, which tests let fail. */
export async function startWatchedUi(): Promise<WatchedUi> {
  const ui = await startUi({}, ['--force-webrtc-ip-handling-policy=disable_non_proxied_udp']);
  const uncaught: string[] = [];
  ui.page.on('pageerror', (error) => uncaught.push(error.message));
  await ui.page.getByRole('row', { name: /Online/ }).waitFor();
  return { ...ui, uncaught };
}
