/** The current time for relative times, updated every second, shared by the page. */
export const now = $state({ ms: Date.now() });
/** To the millisecond, also in a hidden tab, whose timers the browser slows down. */
export const exactMs = (): number => Date.now();
setInterval(() => {
  now.ms = Date.now();
}, 1_000);
