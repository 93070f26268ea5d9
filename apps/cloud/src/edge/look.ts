/**
 * The look of the pages that the cloud itself makes: colours and theme are those of the web UI (`apps/web/src/app.css`, which a test
 * compares), whose files these pages cannot load.
 */
export const lookOfUi = `
:root { color-scheme: light dark; font: 14.5px/1.5 'Inter Variable', Inter, system-ui, sans-serif; --page: light-dark(#f5f5f1, #121416); --panel: light-dark(#ffffff, #191c1f); --raised: light-dark(#fbfbf9, #1f2327); --ink: light-dark(#191c1f, #e6e8ea); --quiet: light-dark(#596169, #9ba3ab); --line: light-dark(#e2e2dc, #2a2f34); --strong-line: light-dark(#c6c7c0, #3d444b); --accent: light-dark(#b0400b, #ff9a5c); --on-accent: light-dark(#ffffff, #2b1000); --warn: light-dark(#8a5a00, #e9b949); --bad: light-dark(#b3261e, #ff8f86); }
:root[data-theme=light] { color-scheme: light; } :root[data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; } body { margin: 0; background: var(--page); color: var(--ink); } :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.brand { display: flex; align-items: center; gap: .5rem; font-weight: 650; letter-spacing: -.015em; color: inherit; text-decoration: none; } .brand::before { content: ''; width: 22px; height: 22px; background: linear-gradient(var(--accent) 0 0) 1px 100% / 5px 9px no-repeat, linear-gradient(var(--accent) 0 0) 8.5px 100% / 5px 15px no-repeat, linear-gradient(var(--ink) 0 0) 16px 100% / 5px 20px no-repeat; }
h1 { font-size: 1.35rem; font-weight: 640; line-height: 1.25; letter-spacing: -.015em; } a { color: var(--accent); } code, pre { font-family: 'JetBrains Mono', ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; } th { color: var(--quiet); font-size: .87em; font-weight: 550; }`;

/** The theme that the person chose in the web UI, which is of the same origin. */
export const themeOfUi =
  "const theme = localStorage.getItem('platform.theme'); if (theme) document.documentElement.dataset.theme = theme;";

/** A script with the `format` of times in the web UI: in the zone of the browser, which it names. */
export const timesOfUi =
  "const format = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short' });";
