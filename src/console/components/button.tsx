import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  children: ComponentChildren;
  kind?: 'primary' | 'secondary' | 'danger' | 'quiet';
  icon?: IconName;
  type?: 'button' | 'submit';
  /** While its work is under way: it keeps the focus, says so, and does nothing. */
  isBusy?: boolean;
  isDisabled?: boolean;
  onClick?: () => void;
}

export function Button({
  children,
  kind = 'secondary',
  icon,
  type = 'button',
  isBusy = false,
  isDisabled = false,
  onClick,
}: ButtonProps) {
  const isOff = isBusy || isDisabled;
  return (
    <button
      type={type}
      class={`button ${kind}`}
      aria-disabled={isOff}
      aria-busy={isBusy}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.();
      }}
    >
      {isBusy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}
