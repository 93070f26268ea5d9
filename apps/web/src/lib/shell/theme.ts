/** Light, dark, or the setting of the system; kept in the browser. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'platform.theme';

export function readTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(key);
    document.documentElement.removeAttribute('data-theme');
  } else {
    localStorage.setItem(key, theme);
    document.documentElement.setAttribute('data-theme', theme);
  }
}

export const nextTheme: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

/** Calls back when drawings must be redrawn in other colours. @returns a function that ends this */
export function onThemeChange(act: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(act);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  system.addEventListener('change', act);
  return () => {
    chosen.disconnect();
    system.removeEventListener('change', act);
  };
}
