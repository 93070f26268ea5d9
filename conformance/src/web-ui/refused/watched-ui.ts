import { type RunningUi, startUi } from '../start-ui.ts';

export interface WatchedUi extends RunningUi {
  /** Messages of errors that no code of a page caught. */
  readonly uncaught: readonly string[];
}

/** A web UI whose page has shown a machine that is online. */
export async function startWatchedUi(): Promise<WatchedUi> {
  const ui = await startUi();
  const uncaught: string[] = [];
  ui.page.on('pageerror', (error) => uncaught.push(error.message));
  await ui.page.getByRole('row', { name: /Online/ }).waitFor();
  return { ...ui, uncaught };
}
