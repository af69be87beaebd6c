import { button, h } from '../dom.js';
import { t } from '../i18n.js';
import type { ITableRow } from './page.js';

/**
 * What is to be said of runs; what is not there stays.
 */
export interface ISaid {
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly note?: string;
}

/**
 * Return a form for title, tags and note of some runs. What is not changed in it stays.
 *
 * @param save - Called with what was changed.
 * @param leave - Called when it is to go.
 */
export function notesForm(
  rows: readonly ITableRow[],
  save: (said: ISaid) => void,
  leave: () => void
): HTMLElement {
  const field = (words: string, name: 'title' | 'tags' | 'note'): Node[] => {
    const values = new Set(rows.map(row => row[name]));
    const [value = ''] = values.size === 1 ? values : [''];
    const input = h('input', {
      name,
      value,
      type: 'text',
      placeholder: values.size === 1 ? null : t('they differ'),
      maxlength: name === 'title' ? 250 : 4000
    });
    return [h('label', { class: 'smtc-field' }, words, input)];
  };
  const form = h(
    'form',
    {
      class: 'smtc-row smtc-notes-form',
      'aria-label': t('Title, tags and note'),
      onsubmit: (event: Event) => {
        event.preventDefault();
        const changed = [...form.querySelectorAll('input')].filter(
          input => input.value !== input.defaultValue
        );
        save(
          Object.fromEntries(
            changed.map(({ name, value }) => [
              name,
              name === 'tags' ? tagsIn(value) : value
            ])
          )
        );
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'Escape') {
          leave();
        }
      }
    },
    ...(rows.length === 1 ? field(t('Title'), 'title') : []),
    ...field(t('Tags, with commas between them'), 'tags'),
    ...field(t('Note'), 'note'),
    h('button', { type: 'submit', class: 'smtc-primary' }, t('Save')),
    button(t('Cancel'), leave)
  );
  return form;
}

function tagsIn(text: string): readonly string[] {
  return text
    .split(',')
    .map(tag => tag.trim())
    .filter(tag => tag !== '');
}
